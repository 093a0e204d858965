import { createHash } from 'node:crypto';
import * as pulumi from '@pulumi/pulumi';

/** Container apps and jobs have shorter names than anything else: "less than 32 characters". */
const LONGEST = 31;
const HASH = 8;

/**
 * A name for a container app or job: known at preview, as it stands in commands and in metrics, and another one in each
 * project and stack.
 *
 * @param part what it is, in a few lower-case letters
 */
export function physicalName(name: string, part: string): string {
  const identity = JSON.stringify([pulumi.getProject(), pulumi.getStack(), name, part]);
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH);
  const stem = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, LONGEST - HASH - part.length - 2)
    .replace(/-+$/, '');
  return [...(stem === '' ? [] : [stem]), part, hash].join('-');
}
