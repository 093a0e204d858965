/** The hub, its consumer group, the checkpoint container, and how to log in at both. */

import { EVENT_HUB_NAME, NAMESPACE_HOST } from '../contract/event-hub-names';
import { NUMBERS } from '../contract/setting-values';
import { isLoopback, type Reader } from './reader';

export interface EventHubsConfig {
  readonly eventHubName: string;
  readonly consumerGroup: string;
  readonly hub: HubLogin;
  /** In place of the namespace's own address: a private endpoint's, or a local one. `sb://host:port` or `host:port`. */
  readonly endpointAddress?: string;
  readonly checkpoints: CheckpointLogin;
  /** Of the user-assigned identity. Absent: the one that the credential finds by itself. */
  readonly clientId?: string;
  /** Absent: the process makes a unique one. */
  readonly workerId?: string;
  /** Ownership that is not renewed for so long is free for others. The same for every worker of a consumer group. */
  readonly ownershipMs: number;
  /** How long ownership must certainly last for a request to Stripe to be started. */
  readonly ownershipMarginMs: number;
  /** A partition that delivers nothing for so long although the hub has more is connected anew. */
  readonly silenceMs: number;
}

export type HubLogin =
  | { readonly method: 'identity'; readonly fullyQualifiedNamespace: string }
  | { readonly method: 'connection-string'; readonly connectionString: string };

export type CheckpointLogin =
  | { readonly method: 'identity'; readonly containerUrl: string }
  | { readonly method: 'connection-string'; readonly connectionString: string; readonly container: string };

/** A longer margin idles a worker that renews late; a shorter one starts work it then loses. */
const MARGIN_MS = 2_000;
const CONTAINER = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/;
const CONTAINER_FAULT = {
  allowed: '3 to 63 small letters, digits and single dashes',
  wayOut: 'Name the container for the checkpoints of this consumer group; nothing else may be in it.',
};

export function readEventHubs(reader: Reader): EventHubsConfig {
  const eventHubName = readHubName(reader);
  const consumerGroup = readConsumerGroup(reader);
  const hub = readHub(reader, eventHubName);
  const endpointAddress = reader.matching('EVENTHUB_ENDPOINT_ADDRESS', /^(sb:\/\/)?[A-Za-z0-9.-]+(:\d{1,5})?\/?$/, {
    allowed: 'a host name with or without a port, e.g. sb://10.0.0.4:5671',
    wayOut: 'Leave it out: the namespace says its own address.',
  });
  const clientId = reader.matching('AZURE_CLIENT_ID', /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, {
    allowed: 'the client id of an identity, a GUID',
    wayOut: 'Give the client id, not the principal id or the resource id; or leave it out.',
  });
  const workerId = reader.matching('WORKER_ID', /^[\x21-\x7e]{1,80}$/, {
    allowed: 'up to 80 visible ASCII characters',
    wayOut: 'Leave it out: the process then makes a unique one.',
  });
  const ownershipMs = reader.milliseconds('EVENTHUB_OWNERSHIP_MS', NUMBERS.EVENTHUB_OWNERSHIP_MS);
  if (ownershipMs < 20_000) {
    reader.warn(
      'EVENTHUB_OWNERSHIP_MS',
      `${ownershipMs} is shorter than 20000: one slow request can lose every partition`,
    );
  }
  return {
    eventHubName,
    consumerGroup,
    hub,
    ...(endpointAddress === undefined ? {} : { endpointAddress }),
    checkpoints: readCheckpoints(reader),
    ...(clientId === undefined ? {} : { clientId }),
    ...(workerId === undefined ? {} : { workerId }),
    ownershipMs,
    ownershipMarginMs: Math.min(MARGIN_MS, Math.floor(ownershipMs / 10)),
    silenceMs: reader.milliseconds('EVENTHUB_SILENCE_MS', NUMBERS.EVENTHUB_SILENCE_MS),
  };
}

function readHubName(reader: Reader): string {
  const fault = {
    allowed: 'the name of an event hub: up to 256 letters, digits, dots, dashes and underscores',
    wayOut: 'Say which hub to read.',
  };
  reader.matching('EVENTHUB_NAME', EVENT_HUB_NAME, fault);
  return reader.required('EVENTHUB_NAME', fault);
}

function readConsumerGroup(reader: Reader): string {
  const fault = {
    allowed: 'the name of a consumer group, e.g. chargeonce',
    wayOut: 'Give this consumer a group of its own: two consumers of one group take partitions from each other.',
  };
  reader.matching('EVENTHUB_CONSUMER_GROUP', /^(\$Default|[A-Za-z0-9]([A-Za-z0-9._-]{0,48}[A-Za-z0-9])?)$/i, fault);
  const group = reader.required('EVENTHUB_CONSUMER_GROUP', fault);
  if (group.toLowerCase() === '$default') {
    reader.warn('EVENTHUB_CONSUMER_GROUP', '$Default is what tools read with too, and they would take partitions away');
  }
  return group;
}

function readHub(reader: Reader, eventHubName: string): HubLogin {
  const connectionString = reader.optional('EVENTHUB_CONNECTION_STRING');
  const fullyQualifiedNamespace = reader.matching('EVENTHUB_NAMESPACE', NAMESPACE_HOST, {
    allowed: 'the full host name of the namespace, e.g. contoso.servicebus.windows.net',
    wayOut: 'Give the whole name, without sb:// and without a port.',
  });
  if (connectionString === undefined) {
    if (reader.optional('EVENTHUB_NAMESPACE') === undefined) {
      reader.problem('EVENTHUB_NAMESPACE', {
        allowed: 'a namespace such as contoso.servicebus.windows.net, or EVENTHUB_CONNECTION_STRING',
        wayOut: 'Say which namespace the hub is in.',
      });
    }
    return { method: 'identity', fullyQualifiedNamespace: fullyQualifiedNamespace ?? '' };
  }
  if (fullyQualifiedNamespace !== undefined) {
    reader.problem('EVENTHUB_NAMESPACE', {
      allowed: 'nothing beside EVENTHUB_CONNECTION_STRING',
      wayOut: 'Keep one: the namespace to log in with an identity, or the connection string.',
    });
  }
  const parts = partsOf(connectionString);
  const named = parts.get('entitypath');
  const complete = /^sb:\/\/[^/]+\/?$/.test(parts.get('endpoint') ?? '');
  const key = parts.has('sharedaccesssignature') || (parts.has('sharedaccesskeyname') && parts.has('sharedaccesskey'));
  if (!complete || !key) {
    reader.problem(
      'EVENTHUB_CONNECTION_STRING',
      {
        allowed: 'Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…',
        wayOut: 'Copy it from the shared access policy of the namespace, or use EVENTHUB_NAMESPACE with an identity.',
      },
      shownKeys(parts),
    );
  } else if (named !== undefined && eventHubName !== '' && named !== eventHubName) {
    reader.problem(
      'EVENTHUB_CONNECTION_STRING',
      { allowed: `no EntityPath, or ${eventHubName} as in EVENTHUB_NAME`, wayOut: 'Name the hub once.' },
      `EntityPath=${named}`,
    );
  }
  return { method: 'connection-string', connectionString };
}

function readCheckpoints(reader: Reader): CheckpointLogin {
  const url = reader.optional('CHECKPOINT_CONTAINER_URL');
  const connectionString = reader.optional('CHECKPOINT_CONNECTION_STRING');
  const container = reader.matching('CHECKPOINT_CONTAINER', CONTAINER, CONTAINER_FAULT);
  if (connectionString === undefined) {
    if (container !== undefined) {
      reader.problem('CHECKPOINT_CONTAINER', {
        allowed: 'nothing without CHECKPOINT_CONNECTION_STRING',
        wayOut: 'With an identity, say the container’s whole address in CHECKPOINT_CONTAINER_URL.',
      });
    }
    return { method: 'identity', containerUrl: readContainerUrl(reader, url) };
  }
  if (url !== undefined) {
    reader.problem(
      'CHECKPOINT_CONTAINER_URL',
      {
        allowed: 'nothing beside CHECKPOINT_CONNECTION_STRING',
        wayOut: 'Keep one: the address to log in with an identity, or the connection string with CHECKPOINT_CONTAINER.',
      },
      withoutQuery(url),
    );
  }
  const parts = partsOf(connectionString);
  if (!isStorage(parts)) {
    reader.problem(
      'CHECKPOINT_CONNECTION_STRING',
      {
        allowed: 'DefaultEndpointsProtocol=https;AccountName=…;AccountKey=…;EndpointSuffix=core.windows.net',
        wayOut: 'Copy it from the storage account, or use CHECKPOINT_CONTAINER_URL with an identity.',
      },
      shownKeys(parts),
    );
  }
  if (reader.optional('CHECKPOINT_CONTAINER') === undefined) reader.problem('CHECKPOINT_CONTAINER', CONTAINER_FAULT);
  return { method: 'connection-string', connectionString, container: container ?? '' };
}

function readContainerUrl(reader: Reader, value: string | undefined): string {
  const fault = {
    allowed: 'https://<account>.blob.core.windows.net/<container>, or CHECKPOINT_CONNECTION_STRING',
    wayOut: 'Give the address of the container that holds nothing but checkpoints, without a signature.',
  };
  if (value === undefined || !URL.canParse(value)) {
    reader.problem('CHECKPOINT_CONTAINER_URL', fault, value);
    return '';
  }
  const url = new URL(value);
  const path = url.pathname.replace(/^\/|\/$/g, '').split('/');
  // An emulator's address has the account in its path.
  const depth = isLoopback(url.hostname) ? [1, 2] : [1];
  const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  const container = path.at(-1) ?? '';
  if (url.protocol !== 'https:' || !plain || !depth.includes(path.length) || !CONTAINER.test(container)) {
    reader.problem('CHECKPOINT_CONTAINER_URL', fault, withoutQuery(value));
  }
  return value.replace(/\/$/, '');
}

/** Names in small letters. Values may hold equals signs. */
function partsOf(connectionString: string): ReadonlyMap<string, string> {
  const pairs = connectionString.split(';').flatMap((part): [string, string][] => {
    const at = part.indexOf('=');
    return at < 1 || at === part.length - 1
      ? []
      : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()]];
  });
  return new Map(pairs);
}

/** The two kinds that the SDK takes: with a key of the account, or with a signature. */
function isStorage(parts: ReadonlyMap<string, string>): boolean {
  const all = (...names: string[]) => names.every((name) => parts.has(name));
  const place = parts.has('endpointsuffix') || parts.has('blobendpoint');
  return (
    (place && all('defaultendpointsprotocol', 'accountname', 'accountkey')) ||
    all('blobendpoint', 'sharedaccesssignature')
  );
}

/** Of a connection string that is not complete: which parts it has, and no value. */
function shownKeys(parts: ReadonlyMap<string, string>): string {
  return parts.size === 0 ? 'text that is no connection string' : [...parts.keys()].map((key) => `${key}=…`).join(';');
}

/** A signature in an address is a secret. */
function withoutQuery(address: string): string {
  const at = address.search(/[?#]/);
  return at < 0 ? address : `${address.slice(0, at)}?…`;
}
