import { describe, expect, test } from 'vitest';
import { describeConfig, readConfig, redactSecrets } from '../../../runtime/config';
import { environment } from './environment';

describe('what the log shows of the configuration', () => {
  test('is everything but the secrets', () => {
    const read = readConfig(environment());
    if (!read.ok) throw new Error(read.problems.join());
    const shown = JSON.stringify(describeConfig(read.config));
    expect(JSON.stringify(read.config)).toContain('hunter2');
    expect(shown).not.toMatch(/hunter2|abc123/);
    expect(shown).toContain('rk_test_***');
    expect(shown).toContain('db.internal');
  });
});

describe('redaction', () => {
  test.each([
    ['key rk_live_51Habc_DEF ends', 'key rk_live_*** ends'],
    ['sk_test_x', 'sk_test_***'],
    ['whsec_abcdefghijklmnop', 'whsec_***'],
    ['postgres://u:p@ss:w@host:5432/db', 'postgres://u:***@host:5432/db'],
    ['http://proxy:geheim@host/', 'http://proxy:***@host/'],
    ['password=geheim; user=x', 'password=***; user=x'],
    ['{"password": "two words"}', '{"password": ***}'],
    ['SharedAccessKeyName=k;SharedAccessKey = abc=;x', 'SharedAccessKeyName=k;SharedAccessKey=***;x'],
    ['SharedAccessSignature=SharedAccessSignature sig=abc&sr=x;y', 'SharedAccessSignature=***;y'],
    ['token SharedAccessSignature sig=abc&sr=x', 'token SharedAccessSignature sig=***&sr=x'],
    ['Authorization: Bearer abcdefghijk', 'Authorization: Bearer ***'],
  ])('%s', (text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
    expect(redactSecrets(shown)).toBe(shown);
  });

  test.each(['pk_billing_records', 'http://host:80/a@b', 'cus_abc pi_abc pm_abc', 'a risk_test of desk_test'])(
    '%s stays as it is',
    (text) => {
      expect(redactSecrets(text)).toBe(text);
    },
  );
});
