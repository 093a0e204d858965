/** Sizes that Container Apps has on a Consumption workload profile. */
import { NO_TEXT, shown, type WrongArg } from '../shared/wrong-args';

const STEP = 0.25;
const MOST_CPU = 4;
/** Memory goes with the cores, two Gi each. */
const GI_PER_CPU = 2;

/** Memory of a container with so many cores, as Container Apps writes it. */
export function memoryOf(cpu: number): string {
  return `${cpu * GI_PER_CPU}Gi`;
}

/** What is wrong when Container Apps has no container of this size. */
export function wrongSize(cpu: number, memory: string): WrongArg | undefined {
  if (typeof cpu !== 'number') {
    return { prop: 'cpu', received: shown(cpu), allowed: `a number from ${STEP} to ${MOST_CPU}`, wayOut: NO_TEXT };
  }
  if (!Number.isInteger(cpu / STEP) || cpu < STEP || cpu > MOST_CPU) {
    return {
      prop: 'cpu',
      received: String(cpu),
      allowed: `${STEP} to ${MOST_CPU} cores in steps of ${STEP}`,
      wayOut: 'Leave it out for 0.5: one worker hardly uses more than one core.',
    };
  }
  const [, gi] = /^(\d+(?:\.\d+)?)Gi$/.exec(memory) ?? [];
  if (gi !== undefined && Number(gi) === cpu * GI_PER_CPU) return undefined;
  return {
    prop: 'memory',
    received: memory,
    allowed: `with cpu ${cpu}: ${memoryOf(cpu)}`,
    wayOut: 'Container Apps has no other pairs. Leave memory out: it follows from cpu.',
  };
}
