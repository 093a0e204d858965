import { describe, expect, it } from 'vitest';
import { FARGATE_CPU, fargateMemory } from '../../../../constructs/shared/fargate-size';

describe('the sizes of Fargate', () => {
  it('are these processors', () => {
    expect(FARGATE_CPU).toEqual([256, 512, 1024, 2048, 4096, 8192, 16384]);
  });

  // As AWS lists them: first, last and number of the amounts of memory of each.
  it.each([
    [256, 512, 2048, 3],
    [512, 1024, 4096, 4],
    [1024, 2048, 8192, 7],
    [2048, 4096, 16384, 13],
    [4096, 8192, 30720, 23],
    [8192, 16384, 61440, 12],
    [16384, 32768, 122880, 12],
  ])('%i units go with %i to %i MiB in %i steps', (cpu, first, last, count) => {
    const memory = fargateMemory(cpu);
    expect([memory[0], memory.at(-1), memory.length]).toEqual([first, last, count]);
    expect(memory).toEqual([...new Set(memory)].sort((a, b) => a - b));
  });

  it('are none for a processor that does not exist', () => {
    expect(fargateMemory(300)).toEqual([]);
  });
});
