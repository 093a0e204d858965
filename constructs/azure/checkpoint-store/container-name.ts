const CONTAINER_NAME = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/;
const SHORTEST = 3;
const LONGEST = 63;

/** Whether Blob Storage takes the name for a container. */
export function isContainerName(name: string): boolean {
  return CONTAINER_NAME.test(name);
}

/** The consumer group's name, as far as a container can have it: `$Default` becomes `default`. */
export function containerNameOf(consumerGroup: string): string {
  const legal = consumerGroup
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '');
  return legal.length < SHORTEST ? `checkpoints-${legal}`.replace(/-$/, '') : legal;
}
