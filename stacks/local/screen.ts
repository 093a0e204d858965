/** Lines on the screen, each with the seconds since the start. With --json everything goes to stderr. */
import { systemHost } from '../../runtime/host';

export class Screen {
  /** `prefix`: whose lines these are, when several speak. */
  constructor(
    private readonly out: NodeJS.WritableStream,
    private readonly prefix = '',
    private readonly start = systemHost.monotonic(),
  ) {}

  /** The same screen and clock for one of several who speak at the same time. */
  of(name: string): Screen {
    return new Screen(this.out, `${name.padEnd(12)}`, this.start);
  }

  get seconds(): number {
    return Math.round((systemHost.monotonic() - this.start) / 100) / 10;
  }

  step(message: string): void {
    this.#line('      ', message);
  }

  fault(name: string, message: string): void {
    this.#line('fault ', `${name}: ${message}`);
  }

  plain(text: string): void {
    this.out.write(`${text}\n`);
  }

  #line(tag: string, message: string): void {
    this.out.write(`${this.seconds.toFixed(1).padStart(6)} s  ${this.prefix}${tag}${message}\n`);
  }
}
