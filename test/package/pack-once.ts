/** Packs before the suite's files start, two at a time: otherwise both would. */
import { pack } from './packed';

export default async function setUp(): Promise<void> {
  // What does not compile is said by the files that need it; the others run all the same.
  await pack().catch(() => undefined);
}
