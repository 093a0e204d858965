/** Lines on the screen, each with the seconds since the start. With --json everything goes to stderr. */
import { systemHost } from '../../runtime/host';

export class Screen {
  readonly #start = systemHost.monotonic();

  constructor(private readonly out: NodeJS.WritableStream) {}

  get seconds(): number {
    return Math.round((systemHost.monotonic() - this.#start) / 100) / 10;
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
    this.out.write(`${this.seconds.toFixed(1).padStart(6)} s  ${tag}${message}\n`);
  }
}
