// A page that uses the published SDK. It shows the data of the hooks, and gives the hooks to the suite as `sdk`.

import './kith-client.js';
import {
  ReplykeProvider,
  useAcceptConnection,
  useAppNotifications,
  useAuth,
  useCheckUsernameAvailability,
  useDeclineConnection,
  useFetchConnectionStatus,
  useFetchConnections,
  useFetchConnectionsByUserId,
  useFetchConnectionsCount,
  useFetchConnectionsCountByUserId,
  useFetchReceivedPendingConnections,
  useFetchSentPendingConnections,
  useFetchUser,
  useFetchUserByForeignId,
  useFetchUserSuggestions,
  useIsEntitySaved,
  useLists,
  useProject,
  useRemoveConnection,
  useRemoveConnectionByUserId,
  useRequestConnection,
  useSignTestingJwt,
  useUser,
} from '@replyke/react-js';
import axios from 'axios';
import { createElement, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

function Page() {
  const sdk = {
    auth: useAuth(),
    me: useUser(),
    project: useProject().project,
    notifications: useAppNotifications(),
    lists: useLists(),
    isSaved: useIsEntitySaved().checkIfEntityIsSaved,
    user: useFetchUser(),
    userByForeignId: useFetchUserByForeignId(),
    isFree: useCheckUsernameAvailability(),
    suggestions: useFetchUserSuggestions(),
    request: useRequestConnection(),
    accept: useAcceptConnection(),
    decline: useDeclineConnection(),
    remove: useRemoveConnection(),
    removeUser: useRemoveConnectionByUserId(),
    status: useFetchConnectionStatus(),
    connections: useFetchConnections(),
    connectionsOf: useFetchConnectionsByUserId(),
    count: useFetchConnectionsCount(),
    countOf: useFetchConnectionsCountByUserId(),
    received: useFetchReceivedPendingConnections(),
    sent: useFetchSentPendingConnections(),
    sign: useSignTestingJwt(),
  };
  useEffect(() => {
    globalThis.sdk = sdk;
  });
  const { appNotifications, unreadAppNotificationsCount } = sdk.notifications;
  const { currentList, subLists } = sdk.lists;
  const row = (key, text) => createElement('li', { key }, text);
  return createElement(
    'main',
    null,
    createElement('h1', null, sdk.me.user?.name ?? 'Signed out'),
    createElement('p', { role: 'status' }, `${unreadAppNotificationsCount} unread`),
    createElement(
      'ul',
      { 'aria-label': 'Notifications' },
      appNotifications.map(({ id, type, isRead, metadata }) =>
        row(id, `${type} of ${metadata.initiatorName}${isRead ? '' : ', new'}`),
      ),
    ),
    createElement(
      'h2',
      null,
      currentList ? `${currentList.name}: ${currentList.entityIds.join(', ')}` : 'No list',
    ),
    createElement(
      'ul',
      { 'aria-label': 'Lists' },
      subLists.map(({ id, name }) => row(id, name)),
    ),
  );
}

function Application() {
  const [signedToken, setSignedToken] = useState();
  globalThis.signInWith = setSignedToken;
  globalThis.axios = axios;
  const projectId = new URLSearchParams(location.search).get('project');
  return createElement(ReplykeProvider, { projectId, signedToken }, createElement(Page));
}

createRoot(document.getElementById('page')).render(createElement(Application));
