/** What some emulators need and others do not: npm does not ask for it, so it is loaded when it is first used. */
export function peer<T>(name: string, user: string, load: () => T): T {
  try {
    return load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // One that is there and lacks a package of its own speaks for itself.
    if (code !== 'MODULE_NOT_FOUND' || !(message.includes(`'${name}'`) || message.includes(`'${name}/`))) throw cause;
    throw new Error(`${user} of chargeonce/testing needs ${name}. Install it: npm install --save-dev ${name}`, {
      cause,
    });
  }
}
