/** Synthesizes the real stack into a folder of its own. */
import { billingApp } from '../aws/app';
import { type Template, TemplateError } from './template';

export function synthesize(folder: string): Template {
  const [stack] = billingApp(folder).synth().stacks;
  if (!stack) throw new TemplateError('stacks/aws has no stack.');
  return stack.template as Template;
}
