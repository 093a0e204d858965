/** Duplicate detection: message ids that came within the window, oldest first. */
export class Duplicates {
  private readonly seen = new Map<string, number>();

  constructor(
    /** Undefined: nothing is a duplicate. */
    private readonly windowMs: number | undefined,
    private readonly now: () => number,
  ) {}

  /** Whether the id came before; from now on it did. The window counts from the first that was kept. */
  has(id: string): boolean {
    if (this.windowMs === undefined) return false;
    const oldest = this.now() - this.windowMs;
    for (const [each, at] of this.seen) {
      if (at > oldest) break;
      this.seen.delete(each);
    }
    if (this.seen.has(id)) return true;
    this.seen.set(id, this.now());
    return false;
  }
}
