/** The few requests that are made of the container, each with an end. */
import type { ContainerClient } from '@azure/storage-blob';
import type { Host } from '../../host/host';
import { isNotFound } from './azure-errors';

export type Metadata = Readonly<Record<string, string>>;

export interface FoundBlob {
  /** With names in lower case: tools that copy containers write them in another one. */
  readonly metadata: Metadata;
  readonly etag: string;
  /** Milliseconds since the epoch by the storage's clock. */
  readonly writtenAt: number;
}

export interface ListedBlob extends FoundBlob {
  /** Without the prefix. */
  readonly name: string;
  /** Milliseconds since the epoch by this machine's clock, give or take a second: its age is what the storage says. */
  readonly lastModified: number;
}

export interface WrittenBlob {
  readonly etag?: string;
  /** As above. */
  readonly lastModified?: number;
}

export interface BlobRequestsOptions {
  readonly container: ContainerClient;
  readonly host: Host;
  /** Milliseconds that one request may take, with its retries. */
  readonly timeoutMs: number;
}

export class BlobRequests {
  constructor(private readonly options: BlobRequestsOptions) {}

  /** Undefined when there is none. */
  async read(name: string): Promise<FoundBlob | undefined> {
    try {
      const found = await this.timed((limit) => this.blob(name).getProperties(limit));
      const { metadata, etag = '', lastModified } = found;
      return { metadata: lowerCase(metadata), etag, writtenAt: lastModified?.getTime() ?? 0 };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Writes metadata; with an etag only over what has it, without one only where there is nothing. Otherwise it rejects
   * with 409 or 412.
   */
  async write(name: string, metadata: Metadata, etag: string | undefined): Promise<WrittenBlob> {
    const blob = this.blob(name);
    const written = await this.timed((limit) =>
      etag === undefined
        ? blob.upload('', 0, { metadata, conditions: { ifNoneMatch: '*' }, ...limit })
        : blob.setMetadata(metadata, { conditions: { ifMatch: etag }, ...limit }),
    );
    return {
      ...(written.etag === undefined ? {} : { etag: written.etag }),
      ...(written.lastModified === undefined ? {} : { lastModified: this.ours(written.lastModified, written.date) }),
    };
  }

  /** Only what has this etag. */
  async delete(name: string, etag: string): Promise<void> {
    await this.timed((limit) => this.blob(name).delete({ conditions: { ifMatch: etag }, ...limit }));
  }

  list(prefix: string): Promise<ListedBlob[]> {
    return this.timed(async (limit) => {
      const found: ListedBlob[] = [];
      const pages = this.options.container.listBlobsFlat({ prefix, includeMetadata: true, ...limit }).byPage();
      for await (const { segment, date } of pages) {
        for (const { name, metadata, properties } of segment.blobItems) {
          const { etag, lastModified } = properties;
          const blob = { metadata: lowerCase(metadata), etag, writtenAt: lastModified.getTime() };
          found.push({ name: name.slice(prefix.length), ...blob, lastModified: this.ours(lastModified, date) });
        }
      }
      return found;
    });
  }

  /** Whether the container answers. */
  async check(): Promise<void> {
    await this.timed((limit) => this.options.container.listBlobsFlat(limit).byPage({ maxPageSize: 1 }).next());
  }

  /**
   * The client compares the time of a claim with its own clock: one that is a minute ahead would take every ownership for
   * expired, and the partitions away from those who read them, again and again.
   * @param theirs by the storage's clock, which showed `date` when it answered
   */
  private ours(theirs: Date, date: Date | undefined): number {
    return theirs.getTime() + (date === undefined ? 0 : this.options.host.now() - date.getTime());
  }

  private blob(name: string) {
    return this.options.container.getBlockBlobClient(name);
  }

  /** An `AbortError`, which the client of the hub takes for its own stop and hides, does not come out of here. */
  private async timed<T>(request: (limit: { readonly abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    const { host, timeoutMs } = this.options;
    const [late, done] = [new AbortController(), new AbortController()];
    void host.sleep(timeoutMs, done.signal).then(() => late.abort());
    try {
      return await request({ abortSignal: late.signal });
    } catch (error) {
      if (late.signal.aborted) throw new Error(`the storage did not answer within ${timeoutMs} ms`);
      throw error;
    } finally {
      done.abort();
    }
  }
}

function lowerCase(metadata: Metadata = {}): Metadata {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]));
}
