/** One endpoint: its address, its parameters, its permission, its work. */
import type { ParamSpecs } from './params';
import type { Call } from './world';

export interface Operation {
  /** `payment_intents.confirm`: resource and verb. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** `/v1/payment_intents/:id/confirm`; at most one `:id`. */
  readonly path: string;
  readonly permission: string;
  readonly params: ParamSpecs;
  /** Writers of an existing object run one at a time. */
  readonly locks?: boolean;
  /** Refusals that depend on the parameters alone: 400, not kept by an idempotency key. */
  check?(call: Pick<Call, 'params'> & { readonly apiVersion: string }): void;
  /** Does the work, answers the object. Throws StripeError. */
  execute(call: Call): object;
}

export interface Route {
  readonly operation: Operation;
  readonly id: string;
}

/** Finds the endpoint for a method and path, fixed parts before ids. */
export function createRouter(operations: readonly Operation[]): (method: string, path: string) => Route | undefined {
  const routes = operations
    .map((operation) => ({
      operation,
      isFixed: !operation.path.includes(':id'),
      pattern: new RegExp(`^${operation.path.replace(':id', '([^/]+)')}$`),
    }))
    .sort((left, right) => Number(right.isFixed) - Number(left.isFixed));
  return (method, path) => {
    for (const { operation, pattern } of routes) {
      const match = operation.method === method ? pattern.exec(path) : null;
      if (match !== null) return { operation, id: decode(match[1] ?? '') };
    }
    return undefined;
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
