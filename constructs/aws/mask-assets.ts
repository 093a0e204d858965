const ASSET_HASH = /\b[0-9a-f]{64}\b/g;

/**
 * A copy of a template whose asset hashes are replaced, so that a snapshot of your stack does not change with
 * every release of the packaged image. Use as `expect(maskAssets(template.toJSON())).toMatchSnapshot()`.
 */
export function maskAssets<T>(template: T): T {
  return JSON.parse(JSON.stringify(template).replace(ASSET_HASH, '<asset>')) as T;
}
