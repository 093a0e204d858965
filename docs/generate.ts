/** `npm run gen:docs`: writes constructs.md from docstrings, and the tables in other pages that the code decides. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage } from './reference/page';
import { readReference } from './reference/read';
import { withSections } from './reference/sections';

function generate(): void {
  const pages = readdirSync(__dirname).filter((name) => name.endsWith('.md'));
  for (const page of pages.map((name) => join(__dirname, name))) {
    writeFileSync(page, withSections(readFileSync(page, 'utf8')));
  }
  writeFileSync(join(__dirname, 'constructs.md'), referencePage(readReference('constructs/aws/index.ts')));
}

if (require.main === module) generate();
