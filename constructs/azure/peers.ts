import { resolvePeers } from '../shared/resolve-peers';

resolvePeers('chargeonce/azure', ['@pulumi/pulumi', '@pulumi/azure-native']);
