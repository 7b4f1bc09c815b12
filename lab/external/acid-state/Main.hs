{-# LANGUAGE DeriveDataTypeable #-}
{-# LANGUAGE OverloadedStrings #-}
{-# LANGUAGE TemplateHaskell #-}
{-# LANGUAGE TypeFamilies #-}
-- | The experiment goget in acid-state with ixset: all accounts are a value in memory, each change is logged and synced.
module Main (main) where

import Control.Monad.Reader (ask)
import Control.Monad.State (get, gets, put)
import Data.Acid (Query, Update, closeAcidState, makeAcidic, openLocalStateFrom, query, update)
import Data.Data (Typeable)
import Data.Foldable (foldl', toList)
import Data.IxSet (Indexable (..), IxSet, getEQ, getOne, insert, ixFun, ixSet, updateIx, (@=))
import qualified Data.IxSet as IxSet
import Data.SafeCopy (base, deriveSafeCopy)
import Data.Sequence (Seq, (|>))
import qualified Data.Sequence as Seq
import Data.Text (Text)

import Accounts
import Protocol

data Item = Item { itemName :: !Text, comment :: !Text, status :: !Int, count :: !Int }
  deriving (Eq, Ord, Typeable)

data Account = Account { key :: !Int, name :: !Text, passphrase :: !Text, items :: !(Seq Item) }
  deriving (Eq, Ord, Typeable)

newtype Id = Id Int deriving (Eq, Ord, Typeable)
newtype Named = Named Text deriving (Eq, Ord, Typeable)

instance Indexable Account where
  empty = ixSet [ixFun (\account -> [Id (key account)]), ixFun (\account -> [Named (name account)])]

newtype Shop = Shop (IxSet Account) deriving Typeable

$(deriveSafeCopy 0 'base ''Item)
$(deriveSafeCopy 0 'base ''Account)
$(deriveSafeCopy 0 'base ''Shop)

load :: [Account] -> Update Shop ()
load accounts = get >>= \(Shop old) -> put (Shop (IxSet.union old (IxSet.fromList accounts)))

create :: Account -> Update Shop ()
create account = get >>= \(Shop accounts) -> put (Shop (insert account accounts))

byId :: Int -> Query Shop (Maybe Account)
byId wanted = ask >>= \(Shop accounts) -> pure (getOne (accounts @= Id wanted))

byName :: Text -> Query Shop (Maybe Account)
byName wanted = ask >>= \(Shop accounts) -> pure (getOne (accounts @= Named wanted))

list_ :: Query Shop [Account]
list_ = ask >>= \(Shop accounts) -> pure (IxSet.toList accounts)

-- | Changes an account; answers whether it was there.
change :: Int -> (Account -> Account) -> Update Shop Bool
change wanted with = do
  found <- gets (\(Shop accounts) -> getOne (getEQ (Id wanted) accounts))
  case found of
    Nothing -> pure False
    Just account -> do
      Shop accounts <- get
      put (Shop (updateIx (Id wanted) (with account) accounts))
      pure True

addItem :: Int -> Item -> Update Shop Bool
addItem wanted item = change wanted (\account -> account { items = items account |> item })

changeItem :: Int -> Int -> Item -> Update Shop Bool
changeItem wanted place item = change wanted (\account -> account { items = Seq.update place item (items account) })

update_ :: Int -> Text -> Update Shop Bool
update_ wanted secret = change wanted (\account -> account { passphrase = secret })

remove :: Int -> Update Shop ()
remove wanted = get >>= \(Shop accounts) -> put (Shop (IxSet.deleteIx (Id wanted) accounts))

$(makeAcidic ''Shop ['load, 'create, 'byId, 'byName, 'list_, 'addItem, 'changeItem, 'update_, 'remove])

main :: IO ()
main = serve $ \hello -> do
  acid <- openLocalStateFrom (directory hello ++ "/state") (Shop empty)
  let there wanted done = done >>= \found -> if found then pure [] else fail ("no account " ++ show wanted)
  pure Subject
    { about = "acid-state 0.16, ixset 1.1"
    , settings = "all accounts in memory as an IxSet with indexes on id and name; every change is an event, written to the log \
                 \and synced with fsync before it is acknowledged; opening replays the log"
    , setUp = \_ lines' -> update acid (Load [Account (number i) n p Seq.empty | [_, i, n, p] <- lines'])
    , operation = operations
    , run = \wanted -> case wanted of
        New i n p -> [] <$ update acid (Create (Account i n p Seq.empty))
        Get i -> toList <$> query acid (ById i)
        Name n -> toList <$> query acid (ByName n)
        List -> query acid List_
        Add i (n, c, s, k) -> there i (update acid (AddItem i (Item n c s k)))
        Change i place (n, c, s, k) -> there i (update acid (ChangeItem i place (Item n c s k)))
        Update i p -> there i (update acid (Update_ i p))
        Delete i -> [] <$ update acid (Remove i)
    , weigh = foldl' (\sum' account -> sum' + weight account) 0
    , endBatch = pure ()
    , rows = concatMap lines_
    , close = closeAcidState acid
    }

weight :: Account -> Int
weight (Account i n p of') = foldl' (\sum' (Item m c s k) -> sum' + itemWeight m c s k) (accountWeight i n p) of'

lines_ :: Account -> [Fields]
lines_ (Account i n p of') =
  ["account", decimal i, n, p] : [["item", m, c, decimal s, decimal k] | Item m c s k <- toList of']
