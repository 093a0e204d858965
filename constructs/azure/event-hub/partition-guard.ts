import { wrongProp } from '../../shared/check';
import type { Change } from '../shared/guard';

/** @throws when an existing hub would get another number of partitions */
export function refusePartitionChange({ name, from, to }: Change): void {
  const was = from?.partitionCount;
  const becomes = to.partitionCount;
  if (typeof was !== 'number' || typeof becomes !== 'number' || was === becomes) return;
  throw wrongProp({
    path: name,
    prop: 'partitionCount',
    received: `${becomes} for a hub that has ${was}`,
    allowed: String(was),
    wayOut:
      'A partition key is hashed over the partitions, so with another number a customer’s events go to another partition ' +
      'than before, where a newer one may overtake an older one that is still unread; and on Standard no hub can change ' +
      'it at all. Make a second BillingEventHub with the number you want, move the producers there, let workers read ' +
      'this one until it is empty, and then remove it.',
  });
}
