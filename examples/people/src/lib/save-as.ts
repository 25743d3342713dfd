/** Makes the browser save a JSON text as a file. */
export function saveAs(name: string, json: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  link.download = name;
  link.click();
  // In the next turn of the event loop, browsers have already started the download.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
