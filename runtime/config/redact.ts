/** Takes secrets out of text that people will read: logs, problems, error messages. */

const STRIPE_KEY = /\b(sk|rk|whsec|pk)_(live_|test_)?[A-Za-z0-9_]{3,}/g;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]*(?:@[^\s/@]*)*@/gi;
const NAMED_PASSWORD =
  /\b(password|passwd|pwd|secret_?access_?key|session_?token)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi;
const BEARER = /\b(bearer|basic)\s+[A-Za-z0-9+/._~-]{8,}=*/gi;

/**
 * The text without Stripe keys, passwords in addresses and `password=…` pairs. The kind and mode of a key
 * stay (`rk_live_***`), because they explain a refusal.
 */
export function redactSecrets(text: string): string {
  return text
    .replace(STRIPE_KEY, (_all, kind: string, mode: string | undefined) => `${kind}_${mode ?? ''}***`)
    .replace(URL_PASSWORD, '$1:***@')
    .replace(NAMED_PASSWORD, '$1$2***')
    .replace(BEARER, '$1 ***');
}
