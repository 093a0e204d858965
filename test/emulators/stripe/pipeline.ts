/**
 * A request's way through Stripe, in Stripe's order: authenticate, rate limit, look the idempotency key up,
 * validate (refusals are not kept), claim the key, execute, store the answer, respond. Faults act in every gap.
 */
import { authorize, type Identity, type KeyRing } from './auth';
import type { EmulatorClock } from './clock';
import { invalidRequest, type Reply, StripeError, serverError, toJson } from './errors';
import { expand } from './expand';
import type { FaultInfo, FaultPoint, Faults, Transport } from './faults';
import { canonicalForm, type FormTree, parseForm } from './form';
import type { IdempotencyStore, KeyClaim } from './idempotency';
import type { Operation, Route } from './operation';
import { type Params, validateParams } from './params';
import type { RateLimiter } from './rate-limit';
import { API_VERSION, type World } from './world';

export interface PipelineParts {
  readonly clock: EmulatorClock;
  readonly keys: KeyRing;
  readonly limiter: RateLimiter;
  readonly idempotency: IdempotencyStore;
  readonly faults: Faults;
  readonly route: (method: string, path: string) => Route | undefined;
  readonly world: (identity: Identity) => World;
  readonly newRequestId: () => string;
  readonly latencyMs: number;
  /** Whether a 400 or 404 raised while executing is kept by the key. Stripe's words leave it open. */
  readonly keepRefusals: boolean;
  /** Told of errors that are the emulator's own. */
  readonly onDefect: (error: unknown) => void;
}

export interface IncomingRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly header: (name: string) => string | undefined;
}

/** What goes over the wire; without a reply the connection is cut. */
export interface Outcome {
  readonly reply: Reply | undefined;
  readonly transport: Transport | undefined;
  readonly operation: string;
  readonly requestId: string;
  readonly isReplay: boolean;
  /** The endpoint began to execute for this request. */
  readonly isExecuted: boolean;
}

/** Leaves the pipeline at once: with an answer that replaces all, or with none. */
class Interruption extends Error {
  constructor(readonly reply: Reply | undefined) {
    super('interrupted by a fault');
  }
}

export function runPipeline(parts: PipelineParts, request: IncomingRequest): Promise<Outcome> {
  return new Exchange(parts, request).run();
}

class Exchange {
  readonly #requestId: string;
  readonly #route: Route | undefined;
  readonly #info: FaultInfo;
  readonly #key: string | undefined;
  readonly #apiVersion: string;
  #claim: KeyClaim | undefined;
  #isReplay = false;
  #isExecuted = false;
  #isCut = false;
  #wire: Reply | undefined;
  #transport: Transport | undefined;
  #leave: () => void = () => {};

  constructor(
    private readonly parts: PipelineParts,
    private readonly request: IncomingRequest,
  ) {
    this.#requestId = parts.newRequestId();
    this.#route = parts.route(request.method, request.path);
    this.#key = request.method === 'POST' ? request.header('idempotency-key') || undefined : undefined;
    this.#apiVersion = request.header('stripe-version') ?? API_VERSION;
    this.#info = {
      operation: this.#route?.operation.name ?? 'unknown',
      method: request.method,
      path: request.path,
      idempotencyKey: this.#key,
      body: request.body,
    };
  }

  async run(): Promise<Outcome> {
    let reply: Reply | undefined;
    try {
      reply = this.#decorate(await this.#process());
      await this.#after('before-respond');
    } catch (error) {
      reply = await this.#refuse(error);
    } finally {
      this.#leave();
      this.#claim?.release();
    }
    const sent = this.#wire === undefined ? reply : this.#decorate(this.#wire);
    return {
      reply: this.#isCut ? undefined : sent,
      transport: this.#transport,
      operation: this.#info.operation,
      requestId: this.#requestId,
      isReplay: this.#isReplay,
      isExecuted: this.#isExecuted,
    };
  }

  async #process(): Promise<Reply> {
    await this.#before('before-auth');
    const identity = this.#authenticate();
    await this.#before('before-rate-limit');
    const scope = `${identity.account} ${identity.livemode ? 'live' : 'test'}`;
    this.#leave = this.parts.limiter.admit(scope, this.#info.operation);
    const { operation, id } = this.#found();
    await this.#before('before-idempotency');
    const tree = parseForm(this.request.method === 'POST' ? this.request.body : this.request.query);
    const fingerprint = `${this.request.method} ${this.request.path}\n${canonicalForm(tree)}`;
    const kept = this.#lookup(scope, fingerprint);
    if (kept !== undefined) return kept;
    await this.#before('before-validation');
    const params = this.#validate(operation, tree);
    await this.#before('before-claim');
    if (this.#key !== undefined) {
      this.#claim = this.parts.idempotency.claim(scope, this.#key, fingerprint, this.#requestId);
    }
    return await this.#executeLocked(operation, id, this.parts.world(identity), params);
  }

  #authenticate(): Identity {
    const identity = this.parts.keys.authenticate(this.request.header('authorization'));
    if (this.#route !== undefined) authorize(identity, this.#route.operation.permission);
    return identity;
  }

  #found(): Route {
    if (this.#route !== undefined) return this.#route;
    throw invalidRequest(
      `Unrecognized request URL (${this.request.method}: ${this.request.path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
      { status: 404 },
    );
  }

  #lookup(scope: string, fingerprint: string): Reply | undefined {
    if (this.#key === undefined) return undefined;
    if (this.#key.length > 255) {
      throw invalidRequest('Idempotency keys may be at most 255 characters long.', { param: 'Idempotency-Key' });
    }
    const kept = this.parts.idempotency.lookup(scope, this.#key, fingerprint);
    if (kept === undefined) return undefined;
    this.#isReplay = true;
    const headers = { ...kept.reply.headers, 'idempotent-replayed': 'true', 'original-request': kept.requestId };
    return { ...kept.reply, headers };
  }

  #validate(operation: Operation, tree: FormTree): Params {
    const params = validateParams(tree, operation.params);
    operation.check?.({ params, apiVersion: this.#apiVersion });
    return params;
  }

  async #executeLocked(operation: Operation, id: string, world: World, params: Params): Promise<Reply> {
    const unlock = operation.locks === true ? world.lock(id) : () => {};
    try {
      await this.#before('before-execute');
      await this.parts.clock.sleep(this.parts.latencyMs);
      this.#stopWithEmulator();
      const { reply, isKept } = this.#execute(operation, id, world, params);
      const isReplaced = await this.#after('after-execute');
      if (isKept && !isReplaced) this.#claim?.store(reply);
      return reply;
    } finally {
      unlock();
    }
  }

  #execute(operation: Operation, id: string, world: World, params: Params): { reply: Reply; isKept: boolean } {
    const cause = { requestId: this.#requestId, idempotencyKey: this.#key ?? null };
    this.#isExecuted = true;
    try {
      const result = operation.execute({ world, params, id, cause });
      return {
        reply: { status: 200, body: toJson(expand(world, result, params.list('expand'))), headers: {} },
        isKept: true,
      };
    } catch (error) {
      if (!(error instanceof StripeError)) throw error;
      const isRefusal = error.status === 400 || error.status === 404;
      return { reply: error.toReply(), isKept: error.kept && (!isRefusal || this.parts.keepRefusals) };
    }
  }

  /** Before anything is executed a fault ends the request; the key is given back unless the fault keeps its answer. */
  async #before(point: FaultPoint): Promise<void> {
    const effect = await this.parts.faults.at(point, this.#info);
    this.#stopWithEmulator();
    if (effect === undefined) return;
    if (effect.kind === 'transport') {
      this.#transport = effect.transport;
      return;
    }
    if (effect.isKept === true && effect.reply !== undefined) this.#claim?.store(effect.reply);
    throw new Interruption(effect.reply);
  }

  /** A request that waited while the emulator closed is lost, not executed: the books are closed too. */
  #stopWithEmulator(): void {
    if (this.parts.clock.stopped.aborted) throw new Interruption(undefined);
  }

  /** After it, a fault changes only what the client sees, and, if it says so, what the key keeps: then true. */
  async #after(point: FaultPoint): Promise<boolean> {
    const effect = await this.parts.faults.at(point, this.#info);
    if (effect === undefined) return false;
    if (effect.kind === 'transport') this.#transport = effect.transport;
    if (effect.kind === 'drop') this.#isCut = true;
    if (effect.reply === undefined) return false;
    this.#wire = effect.reply;
    if (effect.isKept !== true) return false;
    this.#claim?.store(effect.reply);
    return true;
  }

  async #refuse(error: unknown): Promise<Reply | undefined> {
    if (error instanceof Interruption) {
      this.#isCut = error.reply === undefined;
      return error.reply && this.#decorate(error.reply);
    }
    if (!(error instanceof StripeError)) this.parts.onDefect(error);
    const refusal = error instanceof StripeError ? error : serverError();
    await this.#after('before-respond');
    return this.#decorate(refusal.toReply());
  }

  #decorate(reply: Reply): Reply {
    const keyed: Record<string, string> =
      this.#key === undefined ? {} : { 'idempotency-key': this.#key, 'original-request': this.#requestId };
    return {
      ...reply,
      headers: {
        'content-type': 'application/json',
        'request-id': this.#requestId,
        'stripe-version': this.#apiVersion,
        ...keyed,
        ...reply.headers,
      },
    };
  }
}
