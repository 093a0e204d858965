/** Secrets Manager, as far as `GetSecretValue` goes. The SDK is pointed at it by AWS_ENDPOINT_URL_SECRETS_MANAGER. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SecretsManager {
  readonly endpoint: string;
  /** Text of each secret by its ARN; whatever is changed here is answered next. */
  readonly secrets: Map<string, string>;
  /** How often each was read. */
  readonly reads: string[];
  /** Answers this error from now on, or nothing but what is asked again. */
  refuse(error: string | undefined): void;
  stop(): Promise<void>;
}

export async function startSecretsManager(): Promise<SecretsManager> {
  const secrets = new Map<string, string>();
  const reads: string[] = [];
  let refused: string | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { SecretId: arn } = JSON.parse(Buffer.concat(chunks).toString()) as { SecretId: string };
    reads.push(arn);
    const text = secrets.get(arn);
    const fault = refused ?? (text === undefined ? 'ResourceNotFoundException' : undefined);
    response.writeHead(fault === undefined ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(
      JSON.stringify(
        fault === undefined ? { ARN: arn, SecretString: text } : { __type: fault, message: 'not for you' },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets,
    reads,
    refuse(error) {
      refused = error;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
