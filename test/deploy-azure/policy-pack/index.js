// A pack is started without flags of node's, so what compiles the sources is loaded here. Users load what is compiled.
require('tsx/cjs');
const { billingPolicies } = require('../../../constructs/azure/policy');

billingPolicies();
