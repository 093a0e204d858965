/** `npm run gen:docs`: writes the references from docstrings, and the tables in other pages that the code decides. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCES, referencePage } from './reference/page';
import { readReference } from './reference/read';
import { withSections } from './reference/sections';

function generate(): void {
  const pages = readdirSync(__dirname).filter((name) => name.endsWith('.md'));
  for (const page of pages.map((name) => join(__dirname, name))) {
    writeFileSync(page, withSections(readFileSync(page, 'utf8')));
  }
  for (const style of Object.values(REFERENCES)) {
    writeFileSync(join(__dirname, style.page), referencePage(readReference(style.module), style));
  }
}

if (require.main === module) generate();
