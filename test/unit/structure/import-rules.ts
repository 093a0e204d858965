/** Who may import whom. Each rule is a line of a table; a violation is answered in words. */
import { allImports, type Import, packageOf, type Sources } from './sources';

interface Rule {
  readonly name: string;
  /** Files the rule speaks of. */
  readonly files: RegExp;
  /** Files of them that it does not speak of. */
  readonly except?: RegExp;
  /** Files of the repository that they may import; absent: any. */
  readonly onlyFiles?: RegExp;
  readonly noFiles?: RegExp;
  /** Packages that they may import; absent: any. */
  readonly onlyPackages?: RegExp;
  readonly noPackages?: RegExp;
}

const CDK = /^(aws-cdk-lib|constructs)$/;
const PULUMI = /^@pulumi\//;
const NOTHING = /^$/;

export const RULES: readonly Rule[] = [
  {
    name: 'constructs know the runtime by its contract only',
    files: /^constructs\//,
    onlyFiles: /^(constructs\/|runtime\/contract\/)/,
    noPackages: /^(pg|stripe|pino|prom-client|@aws-sdk\/)/,
  },
  {
    name: 'AWS constructs know no Pulumi',
    files: /^constructs\/aws\//,
    noFiles: /^constructs\/azure\//,
    noPackages: PULUMI,
  },
  {
    name: 'Azure components know no CDK',
    files: /^constructs\/azure\//,
    noFiles: /^constructs\/aws\//,
    noPackages: CDK,
  },
  {
    name: 'shared constructs know no cloud',
    files: /^constructs\/shared\//,
    onlyFiles: /^(constructs\/shared|runtime\/contract)\//,
    onlyPackages: NOTHING,
  },
  {
    name: 'the runtime is deployed alone',
    files: /^runtime\//,
    onlyFiles: /^runtime\//,
    noPackages: /^(aws-cdk-lib|constructs|@pulumi\/.*)$/,
  },
  {
    name: 'the contract imports nothing',
    files: /^runtime\/contract\//,
    onlyFiles: /^runtime\/contract\//,
    onlyPackages: NOTHING,
  },
  {
    name: 'the processor sees ports, not SDKs',
    files: /^runtime\/processor\//,
    onlyFiles: /^runtime\/(processor|contract|host|checkpoint)\//,
    onlyPackages: NOTHING,
  },
  {
    name: 'decode, ledger, stripe and checkpoint know no source',
    files: /^runtime\/(decode|ledger|stripe|checkpoint|config|host)\//,
    noFiles: /^runtime\/sources\//,
    noPackages: /^@aws-sdk\//,
  },
  {
    name: 'sources know neither ledger nor Stripe',
    files: /^runtime\/sources\//,
    noFiles: /^runtime\/(ledger|stripe|decode|config|ops)\//,
  },
  {
    name: 'only runtime/stripe imports stripe',
    files: /^(runtime|constructs)\//,
    except: /^runtime\/stripe\//,
    noPackages: /^stripe$/,
  },
  {
    name: 'only runtime/ledger imports pg',
    files: /^(runtime|constructs)\//,
    except: /^runtime\/ledger\//,
    noPackages: /^pg(-.*)?$/,
  },
  {
    name: 'what is shipped imports no test but the emulators',
    files: /^(runtime|constructs|test\/emulators)\//,
    except: /\.test\.ts$/,
    noFiles: /^test\/(?!emulators\/)/,
  },
];

/** Every violation, as `file imports x: rule`. */
export function brokenRules(sources: Sources, rules: readonly Rule[] = RULES): string[] {
  const imports = allImports(sources);
  return rules.flatMap((rule) =>
    imports
      .filter((each) => rule.files.test(each.from) && !rule.except?.test(each.from))
      .filter((each) => breaks(rule, each))
      .map((each) => `${each.from} imports ${each.target ?? each.specifier}: ${rule.name}`),
  );
}

function breaks(rule: Rule, { target, specifier }: Import): boolean {
  if (target !== undefined) {
    return (rule.onlyFiles !== undefined && !rule.onlyFiles.test(target)) || (rule.noFiles?.test(target) ?? false);
  }
  const name = packageOf(specifier);
  if (name === undefined) return false;
  return (rule.onlyPackages !== undefined && !rule.onlyPackages.test(name)) || (rule.noPackages?.test(name) ?? false);
}

/** Each cycle of imports once, as `a → b → a`. */
export function importCycles(sources: Sources): string[] {
  const targets = new Map([...sources.keys()].map((file) => [file, [] as string[]]));
  for (const { from, target } of allImports(sources)) if (target !== undefined) targets.get(from)?.push(target);
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      cycles.add([...path.slice(start), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of sources.keys()) visit(file, []);
  return [...cycles];
}
