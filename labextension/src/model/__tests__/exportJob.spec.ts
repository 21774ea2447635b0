import { RequestFailure } from '../../api/failure';
import { exportAnswer, StubClient } from '../../__tests__/samples';
import { defaultOutput, ExportJob } from '../exportJob';

function job(client: StubClient, save = jest.fn().mockResolvedValue(undefined)): ExportJob {
  return new ExportJob(client, 'work/train.ipynb', save);
}

describe('ExportJob', () => {
  it('proposes a folder beside the notebook', () => {
    expect(defaultOutput('work/train.ipynb')).toBe('work/train-bundle');
  });

  it('chooses the first usable engine', async () => {
    const client = new StubClient();
    const subject = job(client);
    await subject.loadEngines();
    expect(subject.values.engine).toBe('local');
  });

  it('saves the notebook first, then sends what was filled in', async () => {
    const client = new StubClient();
    const save = jest.fn(async () => expect(client.export).not.toHaveBeenCalled());
    const subject = job(client, save);
    await subject.loadEngines();
    subject.set({ parameters: 'EPOCHS=1', baseImage: ' python:3.11 ' });
    await subject.run();
    expect(save).toHaveBeenCalledTimes(1);
    expect(client.export).toHaveBeenCalledWith({
      path: 'work/train.ipynb',
      output: 'work/train-bundle',
      engines: ['local'],
      base_image: 'python:3.11',
      scope: 'used',
      platform: 'linux/amd64',
      parameters: { EPOCHS: '1' }
    });
    expect(subject.phase).toEqual({ kind: 'done', answer: exportAnswer() });
  });

  it('comes back to the form with the reason when the server refuses', async () => {
    const client = new StubClient();
    client.export.mockRejectedValue(new RequestFailure('unknown parameter', 'see the cell'));
    const subject = job(client);
    await subject.run();
    expect(subject.phase).toMatchObject({ kind: 'form', failure: { message: 'unknown parameter' } });
  });

  it('sends nothing while a line of the parameters is wrong', async () => {
    const client = new StubClient();
    const subject = job(client);
    subject.set({ parameters: 'EPOCHS' });
    await subject.run();
    expect(client.export).not.toHaveBeenCalled();
    expect(subject.phase).toMatchObject({ kind: 'form', failure: { message: expect.stringContaining('Line 1') } });
  });

  it('exports once however often the button is pressed', async () => {
    const client = new StubClient();
    const subject = job(client);
    await Promise.all([subject.run(), subject.run()]);
    expect(client.export).toHaveBeenCalledTimes(1);
  });
});
