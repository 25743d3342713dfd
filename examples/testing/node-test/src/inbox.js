const sentences = {
  'connection-request': (name) => `${name} would like to connect`,
  'connection-accepted': (name) => `${name} has accepted your request`,
};

/** Returns a user's unread notifications, newest first, as sentences, and marks them as read. */
export async function readInbox(kith) {
  const unread = [];
  for await (const { isRead, type, metadata } of kith.notifications.list({ limit: 50 })) {
    if (!isRead) unread.push(sentences[type](metadata.initiatorName ?? 'Somebody'));
  }
  await kith.notifications.markAllAsRead();
  return unread;
}
