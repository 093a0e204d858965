import { expect, test } from 'vitest';
import { quietSdkAdvice } from '../../../runtime/host';

const NAME = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';

test('the AWS SDK is told to keep its advice, unless the operator has decided', () => {
  const silent: NodeJS.ProcessEnv = {};
  quietSdkAdvice(silent);
  expect(silent).toEqual({ [NAME]: 'true' });
  const decided: NodeJS.ProcessEnv = { [NAME]: 'false' };
  quietSdkAdvice(decided);
  expect(decided).toEqual({ [NAME]: 'false' });
});
