import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where the folder may be: beside the bundled command line, beside the compiled one, or in a built checkout. */
const PLACES = [['..'], ['..', 'image'], ['..', '..', 'dist', 'runtime', 'image']] as const;

/** The folder that becomes the image: a Dockerfile and the bundle. In words where it is to be had, if it is not here. */
export function imageFolder(source: string, here: string = __dirname): { folder: string } | { problem: string } {
  for (const place of PLACES) {
    const folder = join(here, ...place, source);
    if (['Dockerfile', 'chargeonce.js'].every((file) => existsSync(join(folder, file)))) return { folder };
  }
  return {
    problem:
      `the image's folder (a Dockerfile and chargeonce.js for ${source}) is not beside ${here}. It comes with the npm ` +
      'package: run `npx chargeonce image build` where the package is installed; in a checkout run `npm run build` first.',
  };
}
