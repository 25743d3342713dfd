const sentences = {
  'connection-request': (name) => `${name} would like to connect`,
  'connection-accepted': (name) => `${name} has accepted your request`,
};

/** What a user has not read yet, newest first, as sentences; and marks it as read. */
export async function readInbox(kith) {
  const unread = [];
  for await (const { isRead, type, metadata } of kith.notifications.list({ limit: 50 })) {
    if (!isRead) unread.push(sentences[type](metadata.initiatorName ?? 'Somebody'));
  }
  await kith.notifications.markAllAsRead();
  return unread;
}
