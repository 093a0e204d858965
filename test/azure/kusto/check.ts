/** Microsoft's own parser of Kusto queries, which knows every function and the columns of our two tables. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Of its 40,000 lines of declarations, what is used here. */
interface Symbols {
  TableSymbol: { From(schema: string): { WithName(name: string): unknown } };
  DatabaseSymbol: { ctor: new (name: string, members: unknown[]) => unknown };
}
interface Language {
  Symbols: Symbols;
  GlobalState: { Default: { WithDatabase(database: unknown): unknown } };
  KustoCode: {
    ParseAndAnalyze(
      query: string,
      globals: unknown,
    ): { GetDiagnostics(): { Count: number; getItem(at: number): { Message: string } } };
  };
}

/** As Azure documents them, but for columns that nobody asks for. */
const TABLES = {
  ContainerAppConsoleLogs: '(TimeGenerated:datetime, ContainerAppName:string, RevisionName:string, Log:string)',
  ContainerAppConsoleLogs_CL:
    '(TimeGenerated:datetime, ContainerAppName_s:string, RevisionName_s:string, Log_s:string)',
};

let language: { readonly parser: Language; readonly globals: unknown } | undefined;

function load() {
  if (language !== undefined) return language;
  const require = createRequire(__filename);
  const folder = join(require.resolve('@kusto/language-service-next/package.json'), '..');
  // Written for browsers: each file adds a name to the global object.
  require(join(folder, 'bridge.min.js'));
  require(join(folder, 'Kusto.Language.Bridge.min.js'));
  const { Kusto } = globalThis as unknown as { Kusto: { Language: Language } };
  const { TableSymbol, DatabaseSymbol } = Kusto.Language.Symbols;
  const tables = Object.entries(TABLES).map(([name, schema]) => TableSymbol.From(schema).WithName(name));
  const globals = Kusto.Language.GlobalState.Default.WithDatabase(new DatabaseSymbol.ctor('workspace', tables));
  language = { parser: Kusto.Language, globals };
  return language;
}

/** What Kusto would say against a query. */
export function kustoProblems(query: string): string[] {
  const { parser, globals } = load();
  const found = parser.KustoCode.ParseAndAnalyze(query, globals).GetDiagnostics();
  return Array.from({ length: found.Count }, (_, at) => found.getItem(at).Message);
}
