import * as authorization from '@pulumi/azure-native/authorization';
import * as dbforpostgresql from '@pulumi/azure-native/dbforpostgresql';
import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { onceMade } from '../shared/once-made';
import { keep } from '../shared/stateful';
import { type LedgerPlan, planLedger } from './ledger-checks';
import type { LedgerDatabaseArgs } from './ledger-database-args';
import { type LedgerNetwork, ownNetwork } from './ledger-network';
import { existingServer, ownServer, type ServerParts, serverLogs } from './ledger-server';

const POSTGRESQL_PORT = '5432';

/** Who logs in to migrate: a managed identity, by object id and by name. */
export interface LedgerAdministrator {
  /** Object id of the identity: its `principalId`. */
  readonly principalId: pulumi.Input<string>;
  /** Name of the identity, which is the name of its role in the database. */
  readonly principalName: pulumi.Input<string>;
}

/**
 * The ledger on Azure Database for PostgreSQL, flexible server: private, TLS only, Entra only (there is no password),
 * backed up, protected.
 */
export class LedgerDatabase extends pulumi.ComponentResource {
  /** The server, when it is made here. */
  readonly server: dbforpostgresql.Server | undefined;
  /** Resource id of the server, made here or elsewhere. */
  readonly serverId: pulumi.Output<string>;
  /** Name of the server. */
  readonly serverName: pulumi.Output<string>;
  /** The database in it. */
  readonly database: dbforpostgresql.Database;
  /** Name of the database. */
  readonly databaseName: pulumi.Output<string>;
  /** Where the server answers, inside its network. */
  readonly host: pulumi.Output<string>;
  /** The subnet that the consumer's Container Apps environment must be in to reach the server, if it is known. */
  readonly environmentSubnetId: pulumi.Output<string> | undefined;
  /** The addresses that Stripe sees of who runs in that subnet; known of a network of its own. */
  readonly egressIps: pulumi.Output<string[]> | undefined;
  /** What a worker is told about the ledger; `PGUSER`, who it logs in as, is its own. */
  readonly connectionEnvironment: Readonly<Record<string, pulumi.Output<string>>>;

  private readonly place: ServerParts;
  private readonly tenantId: pulumi.Output<string>;
  private last: pulumi.Resource;

  /**
   * @throws when PostgreSQL is older than 14; when Azure has no such size, storage or name; when backups are kept for less
   * than 7 days or more than 35; when a burstable server is to have a second one; when an existing server takes passwords
   * alone
   */
  constructor(name: string, args: LedgerDatabaseArgs, opts?: pulumi.ComponentResourceOptions) {
    super('chargeonce:azure:LedgerDatabase', name, {}, opts);
    const plan = planLedger(name, args);
    this.tenantId = authorization.getClientConfigOutput({ parent: this }).tenantId;
    const network = this.network(name, args);
    this.place = this.serverOf(name, args, plan, network);

    this.server = this.place.server;
    this.serverId = this.place.id;
    this.serverName = this.place.name;
    this.host = this.place.host;
    this.environmentSubnetId = network?.environmentSubnetId ?? known(args.existing?.environmentSubnetId);
    this.egressIps = network?.egressIps;
    this.database = this.databaseOf(name, args, plan);
    this.last = this.database;
    this.databaseName = onceMade(this.database, plan.databaseName);
    if (args.workspaceId !== undefined) serverLogs(this, name, this.serverId, args.workspaceId);
    this.connectionEnvironment = {
      [ENVIRONMENT.PGHOST]: this.host,
      [ENVIRONMENT.PGPORT]: pulumi.output(POSTGRESQL_PORT),
      [ENVIRONMENT.PGDATABASE]: this.databaseName,
      [ENVIRONMENT.PGSSLMODE]: pulumi.output('verify-full'),
      [ENVIRONMENT.DATABASE_AUTH]: pulumi.output('entra'),
    };
    this.registerOutputs({ host: this.host, databaseName: this.databaseName });
  }

  /**
   * Lets an identity own the schema: it becomes an Entra administrator of the server. Workers need no such thing; the
   * migration makes their role.
   *
   * @param name child name in the program, static
   */
  grantMigrate(name: string, identity: LedgerAdministrator): dbforpostgresql.AdministratorsMicrosoftEntra {
    const { server, name: serverName, resourceGroupName } = this.place;
    const administrator = new dbforpostgresql.AdministratorsMicrosoftEntra(
      name,
      {
        resourceGroupName,
        serverName,
        objectId: identity.principalId,
        principalName: identity.principalName,
        // Azure's own spelling, as of role assignments; the SDK's enum for this property has another resource's.
        principalType: authorization.PrincipalType.ServicePrincipal,
        tenantId: this.tenantId,
      },
      { parent: this, dependsOn: [this.last], ...(server ? { deletedWith: server } : {}) },
    );
    this.last = administrator;
    return administrator;
  }

  private network(name: string, args: LedgerDatabaseArgs): LedgerNetwork | undefined {
    if (args.existing !== undefined) return undefined;
    if (args.network === undefined) return ownNetwork(this, name, args);
    const { subnetId, privateDnsZoneId, environmentSubnetId } = args.network;
    return {
      subnetId,
      privateDnsZoneId,
      environmentSubnetId: known(environmentSubnetId),
      egressIps: undefined,
      before: [],
    };
  }

  private serverOf(
    name: string,
    args: LedgerDatabaseArgs,
    plan: LedgerPlan,
    network: LedgerNetwork | undefined,
  ): ServerParts {
    if (args.existing !== undefined) return existingServer(this, name, args.existing, args);
    if (network === undefined) throw new Error('A server that is made here has a network.');
    return ownServer(this, name, args, plan, network, this.tenantId);
  }

  private databaseOf(name: string, args: LedgerDatabaseArgs, { databaseName }: LedgerPlan): dbforpostgresql.Database {
    const { name: serverName, resourceGroupName, last } = this.place;
    return new dbforpostgresql.Database(
      `${name}-database`,
      { resourceGroupName, serverName, databaseName, charset: 'UTF8', collation: 'en_US.utf8' },
      { parent: this, ...keep(args.protect ?? true), ...(last ? { dependsOn: [last] } : {}) },
    );
  }
}

function known(id: pulumi.Input<string> | undefined): pulumi.Output<string> | undefined {
  return id === undefined ? undefined : pulumi.output(id);
}
