/** The template of the run: the real stack's, synthesized into a folder of its own, or one that the user changed. */
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { billingApp } from '../../../aws/app';
import type { OpenOptions } from '../parts';
import { type Template, TemplateError } from './template';

export function loadTemplate({ stack: file, folder, screen }: OpenOptions): Template {
  if (file !== undefined) {
    screen.step(`template: ${file}`);
    return JSON.parse(readFileSync(resolve(file), 'utf8')) as Template;
  }
  const template = synthesize(join(folder, 'cdk.out'));
  screen.step(`stacks/aws synthesized: ${Object.keys(template.Resources).length} resources`);
  return template;
}

function synthesize(folder: string): Template {
  try {
    const [stack] = billingApp(folder).synth().stacks;
    if (!stack) throw new TemplateError('stacks/aws has no stack.');
    return stack.template as Template;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
