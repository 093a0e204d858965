/** Takes secrets out of text that people will read: logs, problems, error messages. */

const STRIPE_KEY = /\b(?:(sk|rk|pk)_(live|test)_|(whsec|sk|rk)_(?=[A-Za-z0-9]{12}))[A-Za-z0-9_]+/g;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]*(?:@[^\s/@]*)*@/gi;
const NAMED_PASSWORD =
  /\b(password|passwd|pwd|secret_?access_?key|session_?token)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi;
/** Of Azure's connection strings and signed addresses. */
const AZURE_KEY =
  /\b(SharedAccessKey|SharedAccessSignature|AccountKey)\s*=\s*(?:SharedAccessSignature\s+)?[^;\s"']+|\b(sig)=[^&;\s"']+/gi;
const BEARER = /\b(bearer|basic)\s+[A-Za-z0-9+/._~-]{8,}=*/gi;

/**
 * The text without Stripe keys, passwords in addresses, `password=…` pairs and the keys of connection strings. The kind and mode of a key
 * stay (`rk_live_***`), because they explain a refusal.
 */
export function redactSecrets(text: string): string {
  return text
    .replace(STRIPE_KEY, (_all, kind?: string, mode?: string, other?: string) =>
      kind === undefined ? `${other}_***` : `${kind}_${mode}_***`,
    )
    .replace(URL_PASSWORD, '$1:***@')
    .replace(AZURE_KEY, (_all, key?: string, signature?: string) => `${key ?? signature}=***`)
    .replace(NAMED_PASSWORD, '$1$2***')
    .replace(BEARER, '$1 ***');
}
