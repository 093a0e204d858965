import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder that holds `constructs/` and `runtime/`: the package's `dist`, or a checkout. */
const HOME = join(__dirname, '..', '..');

/**
 * Folder of the container image that ships with the package: a Dockerfile and the bundled runtime, no build step.
 *
 * @throws in a checkout that was not built yet
 */
export function packagedImage(source: 'kinesis', home: string = HOME): string {
  const dist = basename(home) === 'dist' ? home : join(home, 'dist');
  const folder = join(dist, 'runtime', 'image', source);
  if (!existsSync(join(folder, 'Dockerfile'))) {
    throw new Error(
      `The packaged image is missing: no Dockerfile in ${folder}. Run \`npm run build\`, or pass \`image\` to the consumer.`,
    );
  }
  return folder;
}
