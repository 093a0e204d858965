import { resolvePeers } from '../../shared/resolve-peers';

// Only who runs policies needs this one.
resolvePeers('chargeonce/azure/policy', ['@pulumi/policy', '@pulumi/pulumi'], ['@pulumi/policy']);
