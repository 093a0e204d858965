/** Name of an event hub. */
export const EVENT_HUB_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,254}[A-Za-z0-9])?$/;

/** Full host name of a namespace, such as `contoso.servicebus.windows.net`. */
export const NAMESPACE_HOST = /^(?=.{4,253}$)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
