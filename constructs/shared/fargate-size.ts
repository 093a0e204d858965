/** Memory, in MiB, that Fargate has for each number of CPU units; 1024 units are one virtual CPU. */
const MEMORY: readonly { readonly cpu: number; readonly from: number; readonly to: number; readonly step: number }[] = [
  { cpu: 256, from: 512, to: 1_024, step: 512 },
  { cpu: 256, from: 2_048, to: 2_048, step: 1_024 },
  { cpu: 512, from: 1_024, to: 4_096, step: 1_024 },
  { cpu: 1_024, from: 2_048, to: 8_192, step: 1_024 },
  { cpu: 2_048, from: 4_096, to: 16_384, step: 1_024 },
  { cpu: 4_096, from: 8_192, to: 30_720, step: 1_024 },
  { cpu: 8_192, from: 16_384, to: 61_440, step: 4_096 },
  { cpu: 16_384, from: 32_768, to: 122_880, step: 8_192 },
];

/** CPU units that a Fargate task can have. */
export const FARGATE_CPU: readonly number[] = [...new Set(MEMORY.map(({ cpu }) => cpu))];

/** Every amount of memory, in MiB, that goes with these CPU units; none when the units do not exist. */
export function fargateMemory(cpu: number): number[] {
  return MEMORY.filter((row) => row.cpu === cpu).flatMap(({ from, to, step }) =>
    Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step),
  );
}
