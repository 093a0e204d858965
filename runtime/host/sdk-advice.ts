/** Keeps a library's advice out of what a worker writes. */

/**
 * On Node.js 20 the AWS SDK prints at its first client that its future versions will want a newer one: seven lines
 * on stderr that are no JSON, at every start, about a choice that is made in the image. An operator who sets the
 * variable, to anything, decides instead.
 */
export function quietSdkAdvice(env: NodeJS.ProcessEnv = process.env): void {
  // The SDK compares with this very text.
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
}
