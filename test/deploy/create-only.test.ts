/** The table of create-only properties is by hand; CloudFormation's own schemas, as cfn-lint carries them, say the same. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { CREATE_ONLY } from '../aws/create-only';
import { pythonEnvironment } from './python';

interface Schema {
  readonly always: readonly string[];
  readonly sometimes: readonly string[];
}

/** Prints the schemas' property names by type. */
const READ = `
import json, os, sys, cfnlint
folder = os.path.join(os.path.dirname(cfnlint.__file__), 'data', 'schemas')
files = json.load(open(os.path.join(folder, 'providers', 'us-east-1.json')))
def read(type):
    schema = json.load(open(os.path.join(folder, 'resources', files[type] + '.json')))
    names = lambda key: sorted({path.split('/')[2] for path in schema.get(key, [])})
    return {'always': names('createOnlyProperties'), 'sometimes': names('conditionalCreateOnlyProperties')}
print(json.dumps({type: read(type) for type in sys.argv[1:]}))
`;

it('CREATE_ONLY says what the schemas of CloudFormation say', async () => {
  const { python } = await pythonEnvironment('requirements-lint.txt', console.log);
  const stdout = execFileSync(python, ['-c', READ, ...Object.keys(CREATE_ONLY)], { encoding: 'utf8' });
  const schemas = JSON.parse(stdout) as Record<string, Schema>;
  const wrong = Object.entries(CREATE_ONLY).flatMap(([type, properties]) => {
    const { always, sometimes } = schemas[type]!;
    const missing = always.filter((property) => !properties.includes(property));
    const invented = properties.filter((property) => !always.includes(property) && !sometimes.includes(property));
    return [...missing.map((each) => `${type} lacks ${each}`), ...invented.map((each) => `${type} has ${each}`)];
  });
  expect(wrong).toEqual([]);
}, 300_000);
