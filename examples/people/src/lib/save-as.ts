/** Makes the browser save a JSON text as a file. */
export function saveAs(name: string, json: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  link.download = name;
  link.click();
  // The address is revoked in the next turn of the event loop, when browsers have already started the download.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
