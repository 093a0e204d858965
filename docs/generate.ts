/** `npm run gen:docs`: writes constructs.md from the docstrings of `chargeonce/aws`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage } from './reference/page';
import { readReference } from './reference/read';

if (require.main === module) {
  writeFileSync(join(__dirname, 'constructs.md'), referencePage(readReference('constructs/aws/index.ts')));
}
