const sentences = {
  'connection-request': (name) => `${name} would like to connect`,
  'connection-accepted': (name) => `${name} has accepted your request`,
};

/** Returns a user's unread notifications as sentences, newest first. Marks exactly these notifications as read. */
export async function readInbox(kith) {
  const unread = [];
  for await (const notification of kith.notifications.list({ limit: 50 })) {
    if (!notification.isRead) unread.push(notification);
  }
  for (const { id } of unread) await kith.notifications.markAsRead({ notificationId: id });
  return unread.map(sentenceOf);
}

function sentenceOf({ type, metadata }) {
  // `sentences` has no entry for the types that the application's own back end may send.
  return sentences[type]?.(metadata.initiatorName ?? 'Somebody') ?? 'Something new';
}
