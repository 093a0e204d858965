/** The stream, the lease table and the region. */
import { isLoopback, type Reader } from './reader';

export interface KinesisConfig {
  readonly streamName: string;
  /** Absent: only the name is known, which is enough within one account. */
  readonly streamArn?: string;
  readonly leaseTableName: string;
  /** Absent: the process makes a unique one. Two live workers must never share it. */
  readonly workerId?: string;
  readonly leaseDurationMs: number;
  /** How long a lease must certainly last for a request to Stripe to be started. */
  readonly ownershipMarginMs: number;
  readonly initialPosition: 'TRIM_HORIZON' | 'LATEST';
  readonly region: string;
  /** Absent: AWS's own endpoints. */
  readonly kinesisEndpoint?: string;
  readonly dynamodbEndpoint?: string;
}

/** A longer margin idles a worker that renews late; a shorter one starts work it then loses. */
const MARGIN_MS = 2_000;
const ARN = /^arn:(aws[a-z-]*):kinesis:([a-z0-9-]+):(\d{12}):stream\/([a-zA-Z0-9_.-]{1,128})$/;

export function readKinesis(reader: Reader): KinesisConfig {
  const { streamName, streamArn, region } = readStream(reader);
  const leaseTableName = reader.required('LEASE_TABLE_NAME', {
    allowed: 'the name of a DynamoDB table',
    wayOut: 'Name the lease table of this consumer; one table serves one application.',
  });
  reader.matching('LEASE_TABLE_NAME', /^[a-zA-Z0-9_.-]{3,255}$/, {
    allowed: '3 to 255 letters, digits, dots, dashes and underscores',
    wayOut: 'Give the name, not the ARN.',
  });
  const workerId = reader.matching('WORKER_ID', /^[\x21-\x7e]{1,128}$/, {
    allowed: 'up to 128 visible ASCII characters',
    wayOut: 'Leave it out: the process then makes a unique one.',
  });
  const leaseDurationMs = reader.milliseconds('LEASE_DURATION_MS', { min: 1_000, max: 60_000, fallback: 10_000 });
  if (leaseDurationMs < 5_000) {
    reader.warn('LEASE_DURATION_MS', `${leaseDurationMs} is shorter than 5000: one slow request can lose every lease`);
  }
  const initialPosition = reader.oneOf('INITIAL_POSITION', ['TRIM_HORIZON', 'LATEST'] as const, 'TRIM_HORIZON');
  if (initialPosition === 'LATEST') {
    reader.warn(
      'INITIAL_POSITION',
      'LATEST skips everything that is in the stream before the first start: it will not be billed',
    );
  }
  const kinesisEndpoint = readEndpoint(reader, 'AWS_ENDPOINT_URL_KINESIS');
  const dynamodbEndpoint = readEndpoint(reader, 'AWS_ENDPOINT_URL_DYNAMODB');
  return {
    streamName,
    ...(streamArn === undefined ? {} : { streamArn }),
    leaseTableName,
    ...(workerId === undefined ? {} : { workerId }),
    leaseDurationMs,
    ownershipMarginMs: Math.min(MARGIN_MS, Math.floor(leaseDurationMs / 5)),
    initialPosition,
    region,
    ...(kinesisEndpoint === undefined ? {} : { kinesisEndpoint }),
    ...(dynamodbEndpoint === undefined ? {} : { dynamodbEndpoint }),
  };
}

function readStream(reader: Reader): { streamName: string; streamArn: string | undefined; region: string } {
  const name = reader.matching('STREAM_NAME', /^[a-zA-Z0-9_.-]{1,128}$/, {
    allowed: 'a stream name: up to 128 letters, digits, dots, dashes and underscores',
    wayOut: 'Put an ARN into STREAM_ARN instead.',
  });
  const arn = reader.matching('STREAM_ARN', ARN, {
    allowed: 'arn:aws:kinesis:<region>:<account>:stream/<name>',
    wayOut: 'Copy the ARN of the stream, not of a consumer.',
  });
  const [, , arnRegion, , arnName] = ARN.exec(arn ?? '') ?? [];
  if (reader.optional('STREAM_NAME') === undefined && reader.optional('STREAM_ARN') === undefined) {
    reader.problem('STREAM_NAME', { allowed: 'a stream name, or STREAM_ARN', wayOut: 'Say which stream to read.' });
  }
  if (name !== undefined && arnName !== undefined && name !== arnName) {
    reader.problem('STREAM_NAME', {
      allowed: `nothing, or ${arnName} as in STREAM_ARN`,
      wayOut: 'Name the stream once.',
    });
  }
  const region = reader.optional('AWS_REGION');
  if (region !== undefined && arnRegion !== undefined && region !== arnRegion) {
    reader.problem('AWS_REGION', {
      allowed: `${arnRegion}, as in STREAM_ARN`,
      wayOut: 'Read a stream in its own region.',
    });
  }
  if (region === undefined && arnRegion === undefined) {
    reader.problem('AWS_REGION', { allowed: 'a region, e.g. eu-west-1', wayOut: 'Set it, or give STREAM_ARN.' });
  }
  return { streamName: name ?? arnName ?? '', streamArn: arn, region: region ?? arnRegion ?? '' };
}

function readEndpoint(
  reader: Reader,
  name: 'AWS_ENDPOINT_URL_KINESIS' | 'AWS_ENDPOINT_URL_DYNAMODB',
): string | undefined {
  const address = reader.address(name, 'http://127.0.0.1:4566');
  if (address?.startsWith('http:') === true && !isLoopback(new URL(address).hostname)) {
    reader.warn(name, `${address} is plain http to another machine`);
  }
  return address;
}
