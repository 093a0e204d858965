import { resolvePeers } from '../shared/resolve-peers';

resolvePeers('chargeonce/aws', ['aws-cdk-lib', 'constructs']);
