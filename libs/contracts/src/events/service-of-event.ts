const services: Readonly<Record<string, string>> = {
  user: 'identity',
  session: 'identity',
  connection: 'connections',
  collection: 'collections',
  notification: 'notifications',
};

/** The service that publishes an event, by its type; `undefined` for one that Kith has not. */
export function serviceOfEvent(type: string): string | undefined {
  return services[type.split('.')[0] ?? ''];
}
