/** Deployed roles: what they may do, and credentials of theirs as ECS hands them to a task. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateRoleCommand, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import type { AwsClients } from './clients';

export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** The emulator lets its root assume any role; AWS would ask the role whom it trusts. */
export async function assumeRole({ sts }: AwsClients, RoleArn: string): Promise<SessionCredentials> {
  const { Credentials } = await sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'deploy-test' }));
  const { AccessKeyId, SecretAccessKey, SessionToken } = Credentials!;
  return { accessKeyId: AccessKeyId!, secretAccessKey: SecretAccessKey!, sessionToken: SessionToken! };
}

/** A role that a user's account has already. Answers its ARN. */
export async function createRole({ iam }: AwsClients, RoleName: string): Promise<string> {
  const Statement = [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }];
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  return (await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }))).Role!.Arn!;
}

/** For what no service of the emulator can be asked, such as a login to a database. */
export async function mayDo({ iam }: AwsClients, roleArn: string, action: string, resource: string): Promise<boolean> {
  const { EvaluationResults } = await iam.send(
    new SimulatePrincipalPolicyCommand({
      PolicySourceArn: roleArn,
      ActionNames: [action],
      ResourceArns: [resource],
    }),
  );
  return EvaluationResults![0]!.EvalDecision === 'allowed';
}

export interface ContainerCredentials {
  /** Settings by which an SDK finds it: those that a Fargate task has. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The address from which a container gets the credentials of its task's role. */
export async function containerCredentials(credentials: SessionCredentials): Promise<ContainerCredentials> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        AccessKeyId: credentials.accessKeyId,
        SecretAccessKey: credentials.secretAccessKey,
        Token: credentials.sessionToken,
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/credentials` },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
