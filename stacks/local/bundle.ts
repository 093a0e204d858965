/** Builds the very files that the constructs deploy; about a second. */
import { buildImages } from '../../runtime/image/build';
import type { Screen } from './screen';
import type { SourceName } from './sources/parts';

/** Answers the bundle's file by source. */
export async function buildBundles(
  sources: readonly SourceName[],
  screen: Screen,
): Promise<Readonly<Record<string, string>>> {
  const built = await buildImages();
  const wanted = sources.map((source) => {
    const bundle = built.find(({ name }) => name === source);
    if (!bundle) throw new Error(`The build made no bundle for ${source}.`);
    return bundle;
  });
  const sizes = wanted.map(({ name, bytes }) => `${name} ${(bytes / 1024 / 1024).toFixed(2)} MiB`);
  screen.step(`runtime bundled: ${sizes.join(', ')}`);
  return Object.fromEntries(wanted.map(({ name, file }) => [name, file]));
}
