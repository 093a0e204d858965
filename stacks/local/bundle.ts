/** Builds the very file that the construct deploys; about a second. */
import { buildImages } from '../../runtime/image/build';
import type { Screen } from './screen';

export async function buildBundle(screen: Screen): Promise<string> {
  const bundle = (await buildImages()).find((built) => built.name === 'kinesis');
  if (!bundle) throw new Error('The build made no bundle for Kinesis.');
  screen.step(`runtime bundled: ${(bundle.bytes / 1024 / 1024).toFixed(2)} MiB`);
  return bundle.file;
}
