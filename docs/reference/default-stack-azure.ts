/** What the pattern makes on Azure with its defaults, as far as it costs money by the piece. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every resource of the pattern, as `<components> > <module>:<Type> <name>`; a test holds it against the program. */
const NAMES = join(__dirname, '../../test/azure/frozen/names-pattern.txt');

/** How many resources of a type, such as `monitor:MetricAlert`, there are. */
export function azureResources(type: string): number {
  const lines = readFileSync(NAMES, 'utf8').split('\n');
  return lines.filter((line) => line.includes(` > ${type} `)).length;
}
