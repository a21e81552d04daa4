internal import SignetEngine

// `adopt()` stands beside the other operations of the store.
extension UserStore: AdoptingRecordStore {}
