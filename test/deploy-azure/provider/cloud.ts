/** The resources that were created, in one JSON file by id, and the log of what was done to them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Props } from '../grpc';

export interface CloudResource {
  readonly token: string;
  readonly inputs: Props;
  readonly outputs: Props;
}

export interface Operation {
  readonly operation: 'create' | 'update' | 'delete';
  readonly token: string;
  readonly id: string;
}

export const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';

/** Ids do not differ in case. */
const key = (id: string): string => id.toLowerCase();

export class Cloud {
  private readonly done: Operation[] = [];
  private readonly outside: ReadonlySet<string>;

  /**
   * @param file Edited by hand, it has drifted.
   * @param outside Ids of what others own and the stack refers to; a resource group among them lies in `region`.
   */
  constructor(
    readonly file: string,
    outside: readonly string[],
    readonly region = 'westeurope',
  ) {
    this.outside = new Set([`/subscriptions/${SUBSCRIPTION}`, ...outside].map(key));
    if (!existsSync(file)) this.write({});
  }

  /** Everything that was done, in order. */
  get log(): readonly Operation[] {
    return this.done;
  }

  /** By id, in the order of creation. */
  all(): Readonly<Record<string, CloudResource>> {
    return JSON.parse(readFileSync(this.file, 'utf8')) as Record<string, CloudResource>;
  }

  get(id: string): CloudResource | undefined {
    return Object.entries(this.all()).find(([each]) => key(each) === key(id))?.[1];
  }

  ofType(token: string): readonly CloudResource[] {
    return Object.values(this.all()).filter((resource) => resource.token === token);
  }

  exists(id: string): boolean {
    return this.outside.has(key(id)) || this.get(id) !== undefined;
  }

  put(operation: 'create' | 'update', id: string, resource: CloudResource): void {
    this.write({ ...this.all(), [id]: resource });
    this.done.push({ operation, token: resource.token, id });
  }

  /** Its children go with it. What is gone already is fine. */
  delete(id: string): void {
    const gone = this.get(id);
    if (gone === undefined) return;
    const isPartOf = (each: string) => key(each) === key(id) || key(each).startsWith(`${key(id)}/`);
    this.write(Object.fromEntries(Object.entries(this.all()).filter(([each]) => !isPartOf(each))));
    this.done.push({ operation: 'delete', token: gone.token, id });
  }

  private write(resources: Readonly<Record<string, CloudResource>>): void {
    writeFileSync(this.file, JSON.stringify(resources, null, 2));
  }
}
