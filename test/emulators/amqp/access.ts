/** Who may use which address: clients put a token for it on `$cbs`, and then attach their links. */
export interface PutToken {
  /** What it is for, such as `sb://host/hub/ConsumerGroups/group/Partitions/0`. */
  readonly audience: string;
  /** `servicebus.windows.net:sastoken` of a connection string, `jwt` of a credential. */
  readonly type: string;
  readonly token: string;
}

/** Whether a token is good; throwing or rejecting means no. */
export type VerifyToken = (put: PutToken) => boolean | Promise<boolean>;

export class Access {
  /** Tokens that clients put, in order, good or not. */
  readonly tokens: PutToken[] = [];
  private readonly granted = new WeakMap<object, Set<string>>();

  constructor(private readonly verify: VerifyToken | undefined) {}

  /** Notes the token, and answers whether it is good. */
  async put(connection: object, put: PutToken): Promise<boolean> {
    this.tokens.push(put);
    if (this.verify === undefined) return true;
    const good = await Promise.resolve(put)
      .then(this.verify)
      .catch(() => false);
    if (!good) return false;
    const paths = this.granted.get(connection) ?? new Set();
    this.granted.set(connection, paths.add(pathOf(put.audience)));
    return true;
  }

  /** Whether a good token for the address, or for what it is a part of, came over the connection. */
  allows(connection: object, address: string): boolean {
    if (this.verify === undefined) return true;
    const wanted = address.toLowerCase();
    return [...(this.granted.get(connection) ?? [])].some(
      // `$management` of a hub is attached without the hub's name.
      (path) => path === wanted || wanted.startsWith(`${path}/`) || path.endsWith(`/${wanted}`),
    );
  }
}

function pathOf(audience: string): string {
  return audience.toLowerCase().replace(/^[a-z]+:\/\/[^/]+\//, '');
}
