/** Stripe's form encoding: `a[b][c]=v`, `list[]=v`, `list[0]=v`, in bodies and in query strings. */

/** A parsed parameter: text, or named parts. Lists are parts named 0, 1, 2: only the parameter's type tells. */
export type FormValue = string | FormTree;
export interface FormTree {
  [name: string]: FormValue;
}

/** A tree without a prototype, so that `__proto__` is a name like any other. */
export function emptyTree(): FormTree {
  return Object.create(null) as FormTree;
}

/** Parses a form body or query string. A name given twice: the last one holds, as at Stripe. */
export function parseForm(text: string): FormTree {
  const root = emptyTree();
  for (const [name, value] of new URLSearchParams(text)) insert(root, splitName(name), value);
  return root;
}

function splitName(name: string): string[] {
  const head = /^([^[]*)/.exec(name)?.[1] ?? '';
  const rest = name.slice(head.length);
  const parts = [...rest.matchAll(/\[([^\]]*)\]/g)];
  const isWellFormed = parts.map((part) => part[0]).join('') === rest;
  return isWellFormed && head !== '' ? [head, ...parts.map((part) => part[1] ?? '')] : [name];
}

function insert(root: FormTree, path: string[], value: string): void {
  let tree = root;
  path.forEach((part, depth) => {
    const name = part === '' && depth > 0 ? String(Object.keys(tree).length) : part;
    if (depth === path.length - 1) {
      tree[name] = value;
      return;
    }
    const next = tree[name];
    const child = next === undefined || typeof next === 'string' ? emptyTree() : next;
    tree[name] = child;
    tree = child;
  });
}

/** One text for equal parameters whatever their order: what an idempotency key is compared by. */
export function canonicalForm(tree: FormTree): string {
  const pairs: string[] = [];
  const walk = (value: FormValue, name: string): void => {
    if (typeof value === 'string') pairs.push(`${JSON.stringify(name)}=${JSON.stringify(value)}`);
    else for (const key of Object.keys(value)) walk(value[key] as FormValue, name === '' ? key : `${name}[${key}]`);
  };
  walk(tree, '');
  return pairs.sort().join('&');
}
