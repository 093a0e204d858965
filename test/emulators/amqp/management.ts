/** `$management` of Event Hubs: what a hub and a partition say of themselves. */
import type { EventHub } from './event-hub';
import { noPartition } from './event-hub-route';
import type { AmqpMessage } from './event-log';
import { type Route, SILENT_OUTLET } from './links';
import { type Answer, answer, failure, propertiesOf, success } from './requests';
import { rhea } from './rhea';

const ADDRESS = '$management';
const STRING_ARRAY = 0xa1;

export function managementRoute(hubs: ReadonlyMap<string, EventHub>): Route {
  return {
    inlet(address, link) {
      if (address !== ADDRESS) return undefined;
      link.set_target({ address });
      return ({ connection, delivery, message }) => {
        delivery.accept();
        answer(connection, message, respond(hubs, message));
      };
    },
    outlet(address, link) {
      if (address !== ADDRESS) return undefined;
      link.set_source({ address });
      return SILENT_OUTLET;
    },
  };
}

function respond(hubs: ReadonlyMap<string, EventHub>, request: AmqpMessage): Answer {
  const { operation, type, name, partition } = propertiesOf(request);
  const hub = hubs.get(String(name).toLowerCase());
  if (operation !== 'READ') return failure(501, 'amqp:not-implemented', `${operation} is not an operation here.`);
  if (hub === undefined) {
    return failure(404, 'amqp:not-found', `The messaging entity '${name}' could not be found.`);
  }
  if (type === 'com.microsoft:eventhub') return success(describeHub(hub));
  if (type !== 'com.microsoft:partition') return failure(400, 'amqp:not-implemented', `${type} is no type here.`);
  if (hub.partitions.has(String(partition))) return success(describePartition(hub, String(partition)));
  const { condition, description } = noPartition(hub);
  return failure(400, condition, description);
}

function describeHub(hub: EventHub): object {
  const { types } = rhea();
  return {
    name: hub.name,
    type: 'com.microsoft:eventhub',
    created_at: types.wrap_timestamp(hub.createdAt),
    partition_count: types.wrap_int(hub.partitions.size),
    partition_ids: types.wrap_array([...hub.partitions.keys()], STRING_ARRAY, undefined),
    georeplication_factor: types.wrap_int(1),
  };
}

function describePartition(hub: EventHub, partition: string): object {
  const { types } = rhea();
  const log = hub.partitions.get(partition)!;
  const { last } = log;
  return {
    name: hub.name,
    type: 'com.microsoft:partition',
    partition,
    begin_sequence_number: types.wrap_long(log.begin),
    last_enqueued_sequence_number: types.wrap_long(last?.sequenceNumber ?? -1),
    last_enqueued_offset: last?.offset ?? '-1',
    last_enqueued_time_utc: types.wrap_timestamp(last?.enqueuedAt ?? 0),
    is_partition_empty: log.begin === log.end,
  };
}
